import favicon from '@/components/favicon.svg?inline';
import { Alert, Button, PasswordInput, Stack, Switch, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState, type FormEvent } from 'react';
import { logIn, providerUrl, sessionQuery, waysInQuery } from '@/api/session';
import { ErrorPanel } from '@/components/ErrorPanel';
import { IconLogin } from '@/components/icons';
import { useT } from '@/lib/i18n/context';
import { failureOf } from './failure';
import classes from './LoginPage.module.css';

export function LoginPage() {
  const t = useT();
  useEffect(() => {
    document.title = `${t('login.title')} · Fast Query Cache`;
  }, [t]);
  return (
    <main className={classes.page}>
      <div className={classes.card}>
        <img src={favicon} alt="" width={40} height={40} />
        <h1 className={classes.title}>Fast Query Cache</h1>
        <p className={classes.lead}>{t('login.lead')}</p>
        <WaysIn />
      </div>
    </main>
  );
}

function WaysIn() {
  const t = useT();
  const { failed } = useSearch({ from: '/login' });
  const { data } = useQuery(waysInQuery);
  const [wantsPassword, setWantsPassword] = useState(false);
  const hasForm = !data?.provider || data.has_passwords || wantsPassword;
  return (
    <Stack gap="md">
      {failed && <Alert color="red">{t(failureOf(failed))}</Alert>}
      {data?.provider && <ProviderButton name={data.provider} />}
      {data?.provider && data.has_passwords && <p className={classes.or}>{t('login.or')}</p>}
      {data?.provider && !data.has_passwords && (
        <Switch
          label={t('login.asLocalAdmin')}
          size="xs"
          checked={wantsPassword}
          onChange={(event) => setWantsPassword(event.currentTarget.checked)}
        />
      )}
      {hasForm && <LoginForm isSecond={Boolean(data?.provider)} />}
    </Stack>
  );
}

function ProviderButton({ name }: { name: string }) {
  const t = useT();
  const { next } = useSearch({ from: '/login' });
  const leave = useMutation({
    mutationFn: () => providerUrl(next ?? '/fleet'),
    onSuccess: (url) => window.location.assign(url),
  });
  return (
    <>
      {leave.isError && <ErrorPanel error={leave.error} />}
      <Button
        size="sm"
        fullWidth
        leftSection={<IconLogin size={16} />}
        loading={leave.isPending || leave.isSuccess}
        onClick={() => leave.mutate()}
      >
        {t('login.byProvider', { name })}
      </Button>
    </>
  );
}

function LoginForm({ isSecond }: { isSecond: boolean }) {
  const t = useT();
  const { next } = useSearch({ from: '/login' });
  const navigate = useNavigate();
  const client = useQueryClient();
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const attempt = useMutation({
    mutationFn: () => logIn(username, password),
    onSuccess: async (session) => {
      client.setQueryData(sessionQuery.queryKey, session);
      await navigate({ href: next ?? '/fleet', replace: true });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    attempt.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {attempt.isError && <ErrorPanel error={attempt.error} />}
        <TextInput
          label={t('login.username')}
          size="sm"
          autoComplete="username"
          autoFocus
          required
          value={username}
          onChange={(event) => setUsername(event.currentTarget.value)}
        />
        <PasswordInput
          label={t('login.password')}
          size="sm"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <Button
          type="submit"
          size="sm"
          variant={isSecond ? 'default' : 'filled'}
          loading={attempt.isPending}
          fullWidth
          mt={4}
        >
          {t('login.submit')}
        </Button>
      </Stack>
    </form>
  );
}
