import { Text } from '@mantine/core';
import { useT, type Translate } from '@/lib/i18n/context';
import { openingOf, type MaintenanceWindow } from '@/lib/maintenanceWindow';
import { Moment } from './Moment';
import { useNow } from './useNow';

type Weekday = 0 | 1 | 2 | 3 | 4 | 5 | 6;

export function windowText({ weekday, start, minutes }: MaintenanceWindow, t: Translate): string {
  const day = weekday === null ? t('instance.everyDay') : t(`weekday.${weekday as Weekday}`);
  return t('instance.window', { day, start: start.slice(0, 5), minutes });
}

/** Shows when the maintenance window opens next, or that it is open now. */
export function WindowOpening({ window }: { window: MaintenanceWindow }) {
  const t = useT();
  const now = useNow(15_000);
  const opening = openingOf(window, now);
  return (
    <Text size="xs" c="dimmed" role="status">
      {opening <= now ? (
        t('timing.windowOpen')
      ) : (
        <>
          {t('timing.windowOpens')} <Moment at={opening} />
        </>
      )}{' '}
      ({windowText(window, t)})
    </Text>
  );
}
