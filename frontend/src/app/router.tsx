// All routes of the console. Pages are loaded on demand. Each page's search parameters are validated in a module next
// to the page.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { accessSearch } from '@/features/access/search';
import { alertsSearch, instanceAlertsSearch } from '@/features/alerts/search';
import { auditSearch } from '@/features/audit/search';
import { cacheSearch } from '@/features/cache/search';
import { fleetSearch } from '@/features/fleet/search';
import { monitoringSearch, nearSearch, queriesSearch } from '@/features/monitoring/search';
import { parametersSearch } from '@/features/parameters/search';
import { applySearch } from '@/features/rollouts/search';
import { rulesSearch } from '@/features/rules/search';
import { templateSearch, templatesSearch } from '@/features/templates/search';
import { sessionQuery } from '@/api/session';
import { textParam } from '@/lib/searchParams';
import { withWords } from '@/lib/i18n/english';
import { NotFound } from './NotFound';
import { queryClient } from './queryClient';
import { RouteFailure } from './RouteFailure';
import { SessionPending } from './SessionPending';
import { Shell } from './Shell';

/** A page whose code is loaded when it is first opened, together with the texts that it shows. */
function page<Module extends Record<string, unknown>>(load: () => Promise<Module>, name: keyof Module) {
  return lazyRouteComponent(() => withWords(load()), name);
}

const root = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: RouteFailure,
});

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: (search): { next?: string; failed?: string } => ({
    next: safeNext(search.next),
    failed: textParam(search, 'failed'),
  }),
  component: page(() => import('@/features/login/LoginPage'), 'LoginPage'),
});

/**
 * The address to open after a log-in, if it is a path of this console other than the login page; otherwise undefined. A
 * crafted link must not lead elsewhere.
 */
function safeNext(value: unknown): string | undefined {
  return typeof value === 'string' && /^\/(?!\/|\\|login\b)/.test(value) ? value : undefined;
}

const console_ = createRoute({
  getParentRoute: () => root,
  id: 'console',
  component: Shell,
  pendingComponent: SessionPending,
  beforeLoad: async ({ location }) => {
    const session = await queryClient.ensureQueryData(sessionQuery);
    if (!session) throw redirect({ to: '/login', search: { next: location.href } });
  },
});

const home = createRoute({
  getParentRoute: () => console_,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/fleet' });
  },
});

const fleet = createRoute({
  getParentRoute: () => console_,
  path: '/fleet',
  validateSearch: fleetSearch,
  component: lazyRouteComponent(() => import('@/features/fleet/FleetPage'), 'FleetPage'),
});

const instance = createRoute({
  getParentRoute: () => console_,
  path: '/instances/$instanceId',
  component: page(() => import('@/features/instance/InstanceLayout'), 'InstanceLayout'),
});

const instanceHome = createRoute({
  getParentRoute: () => instance,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/instances/$instanceId/overview', params, replace: true });
  },
});

const overview = createRoute({
  getParentRoute: () => instance,
  path: '/overview',
  component: page(() => import('@/features/instance/OverviewPage'), 'OverviewPage'),
});

const parameters = createRoute({
  getParentRoute: () => instance,
  path: '/parameters',
  validateSearch: parametersSearch,
  component: page(() => import('@/features/parameters/ParametersPage'), 'ParametersPage'),
});

const monitoring = createRoute({
  getParentRoute: () => instance,
  path: '/monitoring',
  validateSearch: monitoringSearch,
  component: page(() => import('@/features/monitoring/MonitoringPage'), 'MonitoringPage'),
});

const queries = createRoute({
  getParentRoute: () => instance,
  path: '/queries',
  validateSearch: queriesSearch,
  component: page(() => import('@/features/monitoring/QueriesPage'), 'QueriesPage'),
});

const near = createRoute({
  getParentRoute: () => instance,
  path: '/near',
  validateSearch: nearSearch,
  component: page(() => import('@/features/monitoring/NearCachesPage'), 'NearCachesPage'),
});

const cache = createRoute({
  getParentRoute: () => instance,
  path: '/cache',
  validateSearch: cacheSearch,
  component: page(() => import('@/features/cache/CachePage'), 'CachePage'),
});

const rules = createRoute({
  getParentRoute: () => instance,
  path: '/rules',
  validateSearch: rulesSearch,
  component: page(() => import('@/features/rules/RulesPage'), 'RulesPage'),
});

const history = createRoute({
  getParentRoute: () => instance,
  path: '/history',
  component: page(() => import('@/features/instance/HistoryPage'), 'HistoryPage'),
});

const instanceAlerts = createRoute({
  getParentRoute: () => instance,
  path: '/alerts',
  validateSearch: instanceAlertsSearch,
  component: page(() => import('@/features/alerts/InstanceAlertsPage'), 'InstanceAlertsPage'),
});

const change = createRoute({
  getParentRoute: () => instance,
  path: '/changes/$changeId',
  component: page(() => import('@/features/changes/ChangePage'), 'ChangePage'),
});

const templates = createRoute({
  getParentRoute: () => console_,
  path: '/templates',
  validateSearch: templatesSearch,
  component: page(() => import('@/features/templates/TemplatesPage'), 'TemplatesPage'),
});

const template = createRoute({
  getParentRoute: () => console_,
  path: '/templates/$templateId',
  validateSearch: templateSearch,
  component: page(() => import('@/features/templates/TemplatePage'), 'TemplatePage'),
});

const apply = createRoute({
  getParentRoute: () => console_,
  path: '/templates/apply',
  validateSearch: applySearch,
  component: page(() => import('@/features/rollouts/ApplyPage'), 'ApplyPage'),
});

const fleetApply = createRoute({
  getParentRoute: () => console_,
  path: '/fleet-applies/$applyId',
  component: page(() => import('@/features/rollouts/FleetApplyPage'), 'FleetApplyPage'),
});

const alerts = createRoute({
  getParentRoute: () => console_,
  path: '/alerts',
  validateSearch: alertsSearch,
  component: page(() => import('@/features/alerts/AlertsPage'), 'AlertsPage'),
});

const audit = createRoute({
  getParentRoute: () => console_,
  path: '/audit',
  validateSearch: auditSearch,
  component: page(() => import('@/features/audit/AuditPage'), 'AuditPage'),
});

const access = createRoute({
  getParentRoute: () => console_,
  path: '/access',
  validateSearch: accessSearch,
  component: page(() => import('@/features/access/AccessPage'), 'AccessPage'),
});

const settings = createRoute({
  getParentRoute: () => console_,
  path: '/settings',
  component: page(() => import('@/features/settings/SettingsPage'), 'SettingsPage'),
});

const instanceRooms = [
  instanceHome,
  overview,
  parameters,
  monitoring,
  queries,
  near,
  cache,
  rules,
  history,
  instanceAlerts,
  change,
];

const routeTree = root.addChildren([
  login,
  console_.addChildren([
    home,
    fleet,
    instance.addChildren(instanceRooms),
    templates,
    template,
    apply,
    fleetApply,
    alerts,
    audit,
    access,
    settings,
  ]),
]);

export const router = createRouter({
  routeTree,
  defaultPreload: false,
  scrollRestoration: true,
  defaultErrorComponent: RouteFailure,
  defaultNotFoundComponent: NotFound,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
