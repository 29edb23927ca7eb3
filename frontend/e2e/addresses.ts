// Every page that exists with one instance and the start data: its name and its address.
import type { Instance } from './console';

export const PAGES: Record<string, (instance: Instance) => string> = {
  fleet: () => '/fleet',
  overview: ({ id }) => `/instances/${id}/overview`,
  parameters: ({ id }) => `/instances/${id}/parameters`,
  monitoring: ({ id }) => `/instances/${id}/monitoring?range=15m`,
  queries: ({ id }) => `/instances/${id}/queries`,
  near: ({ id }) => `/instances/${id}/near`,
  cache: ({ id }) => `/instances/${id}/cache`,
  history: ({ id }) => `/instances/${id}/history`,
  'instance alerts': ({ id }) => `/instances/${id}/alerts`,
  templates: () => '/templates',
  template: () => '/templates/tpl-57-cache-on',
  'apply to many': () => '/templates/apply',
  incidents: () => '/alerts',
  rules: () => '/alerts?tab=rules',
  silences: () => '/alerts?tab=silences',
  audit: () => '/audit',
  users: () => '/access?tab=users',
  tokens: () => '/access?tab=tokens',
  'access keys': () => '/access?tab=keys',
  settings: () => '/settings',
};
