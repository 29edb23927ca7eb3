// The note below the charts of storage says what they cannot show: how much is free, and why figures are missing.
import type { components } from '@/api/schema.gen';
import { Moment } from '@/components/Moment';
import { formatBytes } from '@/lib/bytes';
import { useT } from '@/lib/i18n/context';
import { formatPercent } from '@/lib/number';
import classes from './monitoring.module.css';

export type Storage = components['schemas']['Storage'];

/** Why figures are missing, and when they were read. Nothing before the server was read for the first time. */
export function StorageNote({ storage }: { storage: Storage }) {
  const t = useT();
  if (storage.at === null) return null;
  const missing = [
    ...(storage.table_gap === 'none' ? [] : [t(`storage.tables.${storage.table_gap}`)]),
    ...(storage.binary_log_gap === 'none' ? [] : [t(`storage.binaryLogs.${storage.binary_log_gap}`)]),
    ...(storage.disk_gap === 'none' || storage.disk_source !== 'none'
      ? []
      : [t(`storage.disk.${storage.disk_gap}`)]),
  ];
  return (
    <div className={classes.note}>
      {missing.map((text) => (
        <p key={text}>{text}</p>
      ))}
      <p>
        {t('storage.read')} <Moment at={storage.at * 1000} relative />
      </p>
    </div>
  );
}

/** How much is free in bytes, and of what. Nothing if that is not known. */
export function FreeDiskNote({ storage }: { storage: Storage }) {
  const t = useT();
  const { disk_source: source, disk_bytes: size, disk_free_bytes: free } = storage;
  if (source === 'none' || !size || free === null) return null;
  const share = formatPercent((100 * free) / size);
  return (
    <div className={classes.note}>
      <p>{t(`storage.free.${source}`, { free: formatBytes(free), size: formatBytes(size), share })}</p>
    </div>
  );
}
