// The frame around every page: navigation, language, colour scheme, who is logged in, and whether the API answers.
import { AppShell, Burger, Drawer } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { useT } from '@/lib/i18n/context';
import { Brand } from './Brand';
import { ConnectionBanner } from './ConnectionBanner';
import { useLiveEvents } from './useLiveEvents';
import { LanguageMenu } from './LanguageMenu';
import { isInRoom, NAVIGATION } from './navigation';
import { SchemeMenu } from './SchemeMenu';
import { UserMenu } from './UserMenu';
import classes from './Shell.module.css';

export function Shell() {
  const t = useT();
  const [isOpen, menu] = useDisclosure(false);
  useLiveEvents();
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 208, breakpoint: 'sm', collapsed: { mobile: true } }}
      padding={0}
    >
      <a href="#main" className="fqc-skip">
        {t('nav.skip')}
      </a>
      <AppShell.Header className={classes.header}>
        <Burger hiddenFrom="sm" size="sm" opened={isOpen} onClick={menu.toggle} aria-label={t('nav.menu')} />
        <Brand />
        <div className={classes.tools}>
          <LanguageMenu />
          <SchemeMenu />
          <UserMenu />
        </div>
      </AppShell.Header>
      <AppShell.Navbar className={classes.navbar}>
        <Navigation />
      </AppShell.Navbar>
      <Drawer
        opened={isOpen}
        onClose={menu.close}
        position="left"
        size={264}
        title={<Brand />}
        hiddenFrom="sm"
      >
        <Navigation onNavigate={menu.close} />
      </Drawer>
      <AppShell.Main className={classes.main}>
        <ConnectionBanner />
        <div id="main" className={classes.page} tabIndex={-1}>
          <Outlet />
        </div>
      </AppShell.Main>
    </AppShell>
  );
}

function Navigation({ onNavigate }: { onNavigate?: () => void }) {
  const t = useT();
  const path = useRouterState({ select: (state) => state.location.pathname });
  return (
    <nav aria-label={t('nav.label')} className={classes.nav}>
      {NAVIGATION.map((item) => (
        <Link
          key={item.to}
          to={item.to}
          className={classes.link}
          aria-current={isInRoom(item, path) ? 'page' : undefined}
          onClick={onNavigate}
        >
          <item.icon size={17} />
          {t(item.label)}
        </Link>
      ))}
    </nav>
  );
}
