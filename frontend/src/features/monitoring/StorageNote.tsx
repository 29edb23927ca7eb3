import type { components } from '@/api/schema.gen';
import { Moment } from '@/components/Moment';
import { formatBytes } from '@/lib/bytes';
import { useT } from '@/lib/i18n/context';
import { formatPercent } from '@/lib/number';
import classes from './monitoring.module.css';

type Storage = components['schemas']['Storage'];

/** How much storage is free, and why figures are missing. Nothing before the server was read for the first time. */
export function StorageNote({ storage }: { storage: Storage | undefined }) {
  const t = useT();
  if (!storage || storage.at === null) return null;
  const { disk_source: source, disk_bytes: size, disk_free_bytes: free } = storage;
  const missing = [
    ...(storage.table_gap === 'none' ? [] : [t(`storage.tables.${storage.table_gap}`)]),
    ...(storage.binary_log_gap === 'none' ? [] : [t(`storage.binaryLogs.${storage.binary_log_gap}`)]),
    ...(storage.disk_gap === 'none' || source !== 'none' ? [] : [t(`storage.disk.${storage.disk_gap}`)]),
  ];
  return (
    <div className={classes.note}>
      {source !== 'none' && size && free !== null ? (
        <p>
          {t(`storage.free.${source}`, {
            free: formatBytes(free),
            size: formatBytes(size),
            share: formatPercent((100 * free) / size),
          })}
        </p>
      ) : null}
      {missing.map((text) => (
        <p key={text}>{text}</p>
      ))}
      <p>
        {t('storage.read')} <Moment at={storage.at * 1000} relative />
      </p>
    </div>
  );
}
