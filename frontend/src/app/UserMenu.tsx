import { Button, Menu, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { logOut, sessionQuery } from '@/api/session';
import {
  IconDeviceDesktop,
  IconDevicesOff,
  IconKey,
  IconLock,
  IconLogout,
  IconUserCircle,
} from '@/components/icons';
import { MenuItemLink } from '@/components/links';
import { forgetForms } from '@/lib/storedForms';
import { useT } from '@/lib/i18n/context';
import { withWords } from '@/lib/i18n/english';
import classes from './Shell.module.css';

const ConfirmModal = lazy(() =>
  withWords(import('@/components/ConfirmModal')).then((module) => ({ default: module.ConfirmModal })),
);

const PasswordForm = lazy(() =>
  withWords(import('@/features/access/PasswordForm')).then((module) => ({ default: module.PasswordForm })),
);

const EndOtherSessions = lazy(() =>
  withWords(import('@/features/access/EndOtherSessions')).then((module) => ({
    default: module.EndOtherSessions,
  })),
);

export function UserMenu() {
  const t = useT();
  const { data: session } = useQuery(sessionQuery);
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isChangingPassword, setIsChangingPassword] = useState(false);
  const [isEndingOthers, setIsEndingOthers] = useState(false);
  const leave = useMutation({
    mutationFn: logOut,
    // There is no onError: after a failed log-out the user is still logged in and sees the error message.
    onSuccess: async () => {
      client.clear();
      forgetForms();
      if (session?.user?.subject) window.location.assign('/oidc/end');
      else await navigate({ to: '/login' });
    },
  });
  if (!session?.user) return null;
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            variant="subtle"
            color="gray"
            aria-label={session.user.username}
            leftSection={<IconUserCircle size={17} />}
            px={8}
          >
            <span className={classes.user}>{session.user.username}</span>
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>
            <Text size="xs" fw={600}>
              {session.user.username}
            </Text>
            <Text size="xs">{t('user.role', { role: session.role ?? '' })}</Text>
          </Menu.Label>
          <MenuItemLink leftSection={<IconKey size={15} />} to="/access" search={{ tab: 'tokens' }}>
            {t('user.tokens')}
          </MenuItemLink>
          <MenuItemLink
            leftSection={<IconDeviceDesktop size={15} />}
            to="/access"
            search={{ tab: 'sessions' }}
          >
            {t('access.sessions')}
          </MenuItemLink>
          <Menu.Item leftSection={<IconDevicesOff size={15} />} onClick={() => setIsEndingOthers(true)}>
            {t('access.endOthers')}
          </Menu.Item>
          {!session.user.subject && (
            <Menu.Item leftSection={<IconLock size={15} />} onClick={() => setIsChangingPassword(true)}>
              {t('user.changePassword')}
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconLogout size={15} />} onClick={() => leave.mutate()}>
            {t('user.logOut')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isChangingPassword && (
        <Suspense>
          <PasswordForm username={session.user.username} onClose={() => setIsChangingPassword(false)} />
        </Suspense>
      )}
      {isEndingOthers && (
        <Suspense>
          <EndOtherSessions onClose={() => setIsEndingOthers(false)} />
        </Suspense>
      )}
      {leave.isError && (
        <Suspense>
          <ConfirmModal
            title={t('user.stillLoggedIn')}
            confirm={t('user.logOut')}
            error={leave.error}
            isHarmless
            onConfirm={() => leave.mutate()}
            onClose={() => leave.reset()}
          >
            {t('user.stillLoggedInHint')}
          </ConfirmModal>
        </Suspense>
      )}
    </>
  );
}
