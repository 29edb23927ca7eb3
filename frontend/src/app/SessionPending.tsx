// The first visit, when to learn who is logged in takes longer than a moment: without this the window stays empty.
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
