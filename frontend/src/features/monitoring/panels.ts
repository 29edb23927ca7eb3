// Which metrics are plotted together on the pages of this feature. Pure.
import { READS_PANEL, type PanelPlan } from '@/charts/metricPanels';

type Key =
  | 'traffic'
  | 'hitRatio'
  | 'memory'
  | 'saved'
  | 'pruned'
  | 'bufferPool'
  | 'connections'
  | 'slow'
  | 'answerTime'
  | 'connectionsUsed'
  | 'locks'
  | 'replication'
  | 'temporary'
  | 'disk'
  | 'pageReads'
  | 'statements'
  | 'stale'
  | 'observed';

export const PANELS: PanelPlan<Key>[] = [
  READS_PANEL,
  { key: 'hitRatio', metrics: ['select_hit_ratio', 'hit_ratio'], isOverlaid: true },
  { key: 'memory', metrics: ['used_bytes', 'cache_size_bytes'] },
  {
    key: 'pruned',
    metrics: ['prunes_per_second', 'invalidations_per_second', 'invalidations_avoided_per_second'],
  },
  { key: 'bufferPool', metrics: ['buffer_pool_hit_ratio'] },
  { key: 'saved', metrics: ['saved_time'], isFilled: true },
  {
    key: 'statements',
    metrics: ['statements_per_second', 'reads_per_second', 'writes_per_second'],
    isOverlaid: true,
  },
  { key: 'answerTime', metrics: ['p95_answer_time'] },
  { key: 'slow', metrics: ['slow_queries_per_second'] },
  { key: 'connections', metrics: ['connections', 'running_threads'] },
  { key: 'connectionsUsed', metrics: ['connections_used_ratio'] },
  { key: 'locks', metrics: ['row_lock_waits_per_second', 'deadlocks_per_second'] },
  { key: 'temporary', metrics: ['temporary_disk_ratio'] },
  { key: 'disk', metrics: ['disk_reads_per_second', 'disk_writes_per_second'] },
  { key: 'pageReads', metrics: ['buffer_pool_reads_per_second'] },
  { key: 'replication', metrics: ['replication_lag'], isWide: true, isShownFrom: 'anyFigure' },
  { key: 'observed', metrics: ['observed_hit_ratio'], isWide: true, isShownFrom: 'figuresAbove0' },
  { key: 'stale', metrics: ['stale_hits_per_second'], isWide: true, isShownFrom: 'figuresAbove0' },
];

/** The charts of the page about near caches. */
export const NEAR_PANELS: PanelPlan<'nearReads' | 'nearWait' | 'nearWriters'>[] = [
  { key: 'nearReads', metrics: ['near_hits_per_second', 'near_misses_per_second'], isHeadline: true },
  { key: 'nearWait', metrics: ['near_writer_wait'] },
  { key: 'nearWriters', metrics: ['near_waits_per_second'] },
];
