import favicon from '@/components/favicon.svg?inline';
import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState, type FormEvent } from 'react';
import { logIn, sessionQuery } from '@/api/session';
import { ErrorPanel } from '@/components/ErrorPanel';
import { useT } from '@/lib/i18n/context';
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
        <LoginForm />
      </div>
    </main>
  );
}

function LoginForm() {
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
        <Button type="submit" size="sm" loading={attempt.isPending} fullWidth mt={4}>
          {t('login.submit')}
        </Button>
      </Stack>
    </form>
  );
}
