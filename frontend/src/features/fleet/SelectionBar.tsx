import { Button } from '@mantine/core';
import { IconBolt, IconTemplate } from '@/components/icons';
import { ButtonLink } from '@/components/links';
import { useT } from '@/lib/i18n/context';
import classes from './fleet.module.css';

/** The id of the template that ships with the product and enables the cache. */
const CACHE_ON = 'tpl-57-cache-on';

export function SelectionBar({ names, onClear }: { names: string[]; onClear: () => void }) {
  const t = useT();
  return (
    <div className={classes.selection} role="status">
      {t('fleet.selected', { count: names.length })}
      <ButtonLink
        to="/templates/apply"
        search={{ instances: names.join(','), template: CACHE_ON }}
        leftSection={<IconBolt size={14} />}
        radius="xl"
      >
        {t('fleet.enableCache', { count: names.length })}
      </ButtonLink>
      <ButtonLink
        to="/templates/apply"
        search={{ instances: names.join(',') }}
        variant="default"
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
