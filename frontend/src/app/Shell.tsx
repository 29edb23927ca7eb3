// The frame of every page: navigation, language, colour scheme, user menu and connection banner. It has a layout of its
// own; on narrow screens the navigation is behind the menu button.
import { Burger } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { sessionQuery } from '@/api/session';
import { useT } from '@/lib/i18n/context';
import { version } from '../../package.json';
import { Brand } from './Brand';
import { ConnectionBanner } from './ConnectionBanner';
import { Keyboard } from './Keyboard';
import { LanguageMenu } from './LanguageMenu';
import { isActiveItem, NAVIGATION } from './navigation';
import { SchemeMenu } from './SchemeMenu';
import { useLiveEvents } from './useLiveEvents';
import { UserMenu } from './UserMenu';
import classes from './Shell.module.css';

export function Shell() {
  const t = useT();
  const [isOpen, menu] = useDisclosure(false);
  useLiveEvents();
  useLeaveOnLogOut();
  useHotkeys([['Escape', menu.close]]);
  return (
    <div className={classes.shell}>
      <a href="#main" className="fqc-skip">
        {t('nav.skip')}
      </a>
      <header className={classes.header}>
        <Burger
          hiddenFrom="md"
          size="sm"
          opened={isOpen}
          onClick={menu.toggle}
          aria-label={t('nav.menu')}
          aria-expanded={isOpen}
          aria-controls="navigation"
        />
        <Brand />
        <div className={classes.tools}>
          <Keyboard />
          <LanguageMenu />
          <SchemeMenu />
          <UserMenu />
        </div>
      </header>
      <nav
        id="navigation"
        aria-label={t('nav.label')}
        className={classes.nav}
        data-open={isOpen || undefined}
      >
        <Navigation onNavigate={menu.close} />
        <small className={classes.version}>Fast Query Cache {version}</small>
      </nav>
      <main className={classes.main}>
        <ConnectionBanner />
        <div id="main" className={classes.page} tabIndex={-1}>
          <Outlet />
        </div>
      </main>
    </div>
  );
}

/** Opens the login page when the session has ended, with this page's address, so that a log-in comes back here. */
function useLeaveOnLogOut() {
  const navigate = useNavigate();
  const { data: session } = useQuery(sessionQuery);
  // Uses the resolved location, because the pending one soon is the login page.
  const href = useRouterState({ select: (state) => state.resolvedLocation?.href });
  useEffect(() => {
    if (session === null) void navigate({ to: '/login', search: { next: href } });
  }, [session, href, navigate]);
}

function Navigation({ onNavigate }: { onNavigate: () => void }) {
  const t = useT();
  const path = useRouterState({ select: (state) => state.location.pathname });
  return NAVIGATION.map((item) => (
    <Link
      key={item.to}
      to={item.to}
      className={classes.link}
      aria-current={isActiveItem(item, path) ? 'page' : undefined}
      onClick={onNavigate}
    >
      <item.icon size={17} />
      {t(item.label)}
    </Link>
  ));
}
