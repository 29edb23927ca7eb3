import { Button } from '@mantine/core';
import { useT } from '@/lib/i18n/context';
import type { Draft } from './useDraft';
import classes from './parameters.module.css';

export function DraftBar({ draft, onReview }: { draft: Draft; onReview: () => void }) {
  const t = useT();
  const count = Object.keys(draft.values).length;
  if (count === 0) return null;
  return (
    <div className={classes.bar} role="status">
      {t('parameters.drafted', { count })}
      <Button radius="xl" onClick={onReview}>
        {t('parameters.review')}
      </Button>
      <Button radius="xl" variant="subtle" color="gray" onClick={draft.clear}>
        {t('parameters.discard')}
      </Button>
    </div>
  );
}
