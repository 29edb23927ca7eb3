import { EmptyState } from '@/components/EmptyState';
import { IconSearch } from '@/components/icons';
import { ButtonLink } from '@/components/links';
import { useT } from '@/lib/i18n/context';

export function NotFound() {
  const t = useT();
  return (
    <main>
      <EmptyState
        isPage
        icon={<IconSearch size={20} />}
        title={t('notFound.title')}
        hint={t('notFound.hint')}
        action={<ButtonLink to="/fleet">{t('notFound.home')}</ButtonLink>}
      />
    </main>
  );
}
