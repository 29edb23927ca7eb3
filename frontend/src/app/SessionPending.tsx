// Shown on the first visit while the session loads for longer than a moment. Without it the window would stay empty.
import { Container } from '@mantine/core';
import { PageHeader } from '@/components/PageHeader';
import { Loading, SkeletonLines } from '@/components/QueryView';
import { useT } from '@/lib/i18n/context';

export function SessionPending() {
  const t = useT();
  return (
    <Container component="main" py="xl">
      <PageHeader title={t('state.loading')} />
      <Loading>
        <SkeletonLines />
      </Loading>
    </Container>
  );
}
