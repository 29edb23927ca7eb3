// Statements of a server without the engine, counted by its performance schema, and how many of them a cache could
// answer.
import { Drawer, Stack } from '@mantine/core';
import { FactList } from '@/components/FactList';
import { Statements } from '@/components/Statements';
import { useT, useApiText } from '@/lib/i18n/context';
import { columnNames, isNumeric, readableColumn, readableFigure, type QueryRow } from './queryRows';
import { QueryTable } from './QueryTable';
import { StatementHours } from './StatementHours';
import classes from './queries.module.css';

const SERVER_TIME = 'Server_time_us';

interface DigestFiguresProps {
  instanceId: string;
  items: QueryRow[];
  /** The digest of the statement whose details are shown. Absent if none are. */
  open?: string;
  onOpen: (digest: string | undefined) => void;
}

export function DigestFigures({ instanceId, items, open, onOpen }: DigestFiguresProps) {
  const t = useT();
  return (
    <>
      <QueryTable
        items={items}
        label={t('queries.byServerTime')}
        column={SERVER_TIME}
        noneRanked={t('queries.noneYetDigests')}
        onOpen={(row) => onOpen(row.Digest ?? undefined)}
      />
      <DigestDrawer
        instanceId={instanceId}
        items={items}
        row={items.find((row) => open !== undefined && row.Digest === open)}
        onClose={() => onOpen(undefined)}
      />
    </>
  );
}

function DigestDrawer({
  instanceId,
  items,
  row,
  onClose,
}: {
  instanceId: string;
  items: QueryRow[];
  row: QueryRow | undefined;
  onClose: () => void;
}) {
  const t = useT();
  const apiText = useApiText();
  return (
    <Drawer opened={row !== undefined} onClose={onClose} size={560} title={t('statement.title')}>
      {row && (
        <Stack gap="md">
          <Statements lines={[row.Query ?? '']} />
          <StatementHours instanceId={instanceId} digest={row.Digest ?? ''} />
          <FactList
            facts={columnNames(items)
              .filter((name) => name !== 'Query')
              .map((name) => ({
                label: apiText(`column.${name}`, readableColumn(name)),
                value:
                  row[name] === null || row[name] === undefined ? (
                    '–'
                  ) : isNumeric(items, name) ? (
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
