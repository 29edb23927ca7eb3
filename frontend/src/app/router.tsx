// Every address of the console. Pages are loaded on demand; what an address may carry is validated beside its page.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { accessSearch } from '@/features/access/search';
import { auditSearch } from '@/features/audit/search';
import { fleetSearch } from '@/features/fleet/search';
import { sessionQuery } from '@/api/session';
import { NotFound } from './NotFound';
import { queryClient } from './queryClient';
import { RouteFailure } from './RouteFailure';
import { Shell } from './Shell';

const root = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: RouteFailure,
});

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: (search): { next?: string } => ({ next: safeNext(search.next) }),
  component: lazyRouteComponent(() => import('@/features/login/LoginPage'), 'LoginPage'),
});

/** Only addresses of this console: a crafted link must not lead elsewhere after the log-in. */
function safeNext(value: unknown): string | undefined {
  return typeof value === 'string' && /^\/(?!\/|\\)/.test(value) ? value : undefined;
}

const console_ = createRoute({
  getParentRoute: () => root,
  id: 'console',
  component: Shell,
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

const audit = createRoute({
  getParentRoute: () => console_,
  path: '/audit',
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('@/features/audit/AuditPage'), 'AuditPage'),
});

const access = createRoute({
  getParentRoute: () => console_,
  path: '/access',
  validateSearch: accessSearch,
  component: lazyRouteComponent(() => import('@/features/access/AccessPage'), 'AccessPage'),
});

const routeTree = root.addChildren([login, console_.addChildren([home, fleet, audit, access])]);

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
