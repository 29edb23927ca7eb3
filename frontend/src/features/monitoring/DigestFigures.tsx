// Statements of a server without the engine, as its performance schema counts them, and what a cache could answer of them.
import { Drawer, Stack } from '@mantine/core';
import { FactList } from '@/components/FactList';
import { Statements } from '@/components/Statements';
import { useT, useTold } from '@/lib/i18n/context';
import { formatPercent } from '@/lib/number';
import { columnNames, isNumeric, readableColumn, readableFigure, type QueryRow } from './queryRows';
import { QueryTable } from './QueryTable';
import classes from './queries.module.css';

const SERVER_TIME = 'Server_time_us';
/** Fewer recent reads than this say little. */
const FEW = 100;

interface Estimate {
  read_time_ratio: number;
  sampled: number;
  repeated: number;
}

interface DigestFiguresProps {
  items: QueryRow[];
  estimate: Estimate | null;
  /** The digest of the statement whose details are shown. */
  open?: string;
  onOpen: (digest: string | undefined) => void;
}

export function DigestFigures({ items, estimate, open, onOpen }: DigestFiguresProps) {
  const t = useT();
  return (
    <div className={classes.figures}>
      {estimate && <EstimateText estimate={estimate} />}
      <QueryTable
        items={items}
        label={t('queries.byServerTime')}
        column={SERVER_TIME}
        noneRanked={t('queries.noneYetDigests')}
        onOpen={(row) => onOpen(row.Digest ?? undefined)}
      />
      <DigestDrawer
        items={items}
        row={items.find((row) => open !== undefined && row.Digest === open)}
        onClose={() => onOpen(undefined)}
      />
    </div>
  );
}

function EstimateText({ estimate }: { estimate: Estimate }) {
  const t = useT();
  const { read_time_ratio: reads, sampled, repeated } = estimate;
  return (
    <p className={classes.span}>
      {t('queries.estimate.reads', { ratio: formatPercent(reads * 100) })}{' '}
      {sampled === 0
        ? t('queries.estimate.noTexts')
        : t('queries.estimate.repeated', {
            sampled: String(sampled),
            ratio: formatPercent((repeated / sampled) * 100),
          })}{' '}
      {sampled > 0 && sampled < FEW && t('queries.estimate.few')}
    </p>
  );
}

function DigestDrawer({
  items,
  row,
  onClose,
}: {
  items: QueryRow[];
  row: QueryRow | undefined;
  onClose: () => void;
}) {
  const t = useT();
  const told = useTold();
  return (
    <Drawer opened={row !== undefined} onClose={onClose} size={560} title={t('statement.title')}>
      {row && (
        <Stack gap="md">
          <Statements lines={[row.Query ?? '']} />
          <FactList
            facts={columnNames(items)
              .filter((name) => name !== 'Query')
              .map((name) => ({
                label: told(`column.${name}`, readableColumn(name)),
                value: isNumeric(items, name) ? (
                  readableFigure(name, row[name] ?? '', t)
                ) : (
                  <code className={classes.digest}>{row[name]}</code>
                ),
              }))}
          />
        </Stack>
      )}
    </Drawer>
  );
}
