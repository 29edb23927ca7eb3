import { Button } from '@mantine/core';
import { IconTemplate } from '@/components/icons';
import { ButtonLink } from '@/components/links';
import { useT } from '@/lib/i18n/context';
import classes from './fleet.module.css';

export function SelectionBar({ ids, onClear }: { ids: string[]; onClear: () => void }) {
  const t = useT();
  return (
    <div className={classes.selection} role="status">
      {t('fleet.selected', { count: ids.length })}
      <ButtonLink
        to="/templates/apply"
        search={{ instances: ids.join(',') }}
        leftSection={<IconTemplate size={14} />}
        radius="xl"
      >
        {t('fleet.applyTemplate')}
      </ButtonLink>
      <Button variant="subtle" color="gray" radius="xl" onClick={onClear}>
        {t('action.clear')}
      </Button>
    </div>
  );
}
