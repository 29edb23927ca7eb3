import { Tooltip } from '@mantine/core';
import type { Instance, InstanceParameter } from '@/api/instances';
import type { Column } from '@/components/DataTable';
import { IconLock, IconRotateClockwise } from '@/components/icons';
import { Identifier } from '@/components/Identifier';
import { ParameterValue } from '@/components/ParameterValue';
import { StatusBadge } from '@/components/StatusBadge';
import { useT, useApiText, type Translate } from '@/lib/i18n/context';
import { readableRange } from './parameterInput';
import { isEngineValueChanged } from './parameterList';
import type { Draft } from './useDraft';
import { ValueCell, type FocusedRow } from './ValueCell';
import classes from './parameters.module.css';

interface Context {
  instance: Instance;
  draft: Draft;
  canChange: boolean;
  isAdmin: boolean;
  focused: FocusedRow;
}

export function parameterColumns(t: Translate, context: Context): Column<InstanceParameter>[] {
  return [
    {
      key: 'name',
      header: t('parameters.name'),
      sortValue: (row) => row.name,
      render: (row) => <NameCell row={row} t={t} />,
      width: '28%',
    },
    {
      key: 'value',
      header: t('parameters.value'),
      render: (row) => <ValueCell row={row} {...context} />,
      width: '27%',
    },
    {
      key: 'state',
      header: t('fleet.state'),
      render: (row) => <RowState row={row} t={t} />,
      width: '12%',
      isSecondary: true,
    },
    {
      key: 'default',
      header: t('parameters.default'),
      render: (row) => <ParameterValue value={row.default} unit={row.unit} isClipped />,
      width: '17%',
      isSecondary: true,
    },
    {
      key: 'allowed',
      header: t('parameters.allowed'),
      render: (row) => row.is_modifiable && <Allowed row={row} />,
      width: '16%',
      isSecondary: true,
    },
  ];
}

function Allowed({ row }: { row: InstanceParameter }) {
  const range = readableRange(row);
  return (
    <span className={classes.allowed} title={range}>
      {range}
    </span>
  );
}

function NameCell({ row, t }: { row: InstanceParameter; t: Translate }) {
  return (
    <span className={classes.name}>
      <Tooltip label={row.description || row.name} maw={420}>
        <span>
          <Identifier name={row.name} />
        </span>
      </Tooltip>
      {row.needs_restart && row.is_modifiable && (
        <Tooltip label={t('change.needsRestart')}>
          <IconRotateClockwise size={14} aria-label={t('change.needsRestart')} className={classes.flag} />
        </Tooltip>
      )}
      {row.access !== 'operator' && <Lock row={row} />}
    </span>
  );
}

/** The lock of a parameter that this user cannot set. The tooltip says why, and whether administrators can set it. */
function Lock({ row }: { row: InstanceParameter }) {
  const t = useT();
  const reason = useApiText()(`access.${row.access_code}`, row.access_reason);
  const label = t(row.access === 'admin' ? 'parameters.adminOnly' : 'parameters.never', { reason });
  return (
    <Tooltip label={label} maw={300} multiline events={{ hover: true, focus: true, touch: true }}>
      <IconLock size={14} aria-label={label} className={classes.flag} data-access={row.access} />
    </Tooltip>
  );
}

function RowState({ row, t }: { row: InstanceParameter; t: Translate }) {
  if (row.is_drifted) return <StatusBadge tone="warn">{t('parameters.drifted')}</StatusBadge>;
  if (row.is_pending_restart) return <StatusBadge tone="warn">{t('parameters.pending')}</StatusBadge>;
  if (row.configured !== null || isEngineValueChanged(row))
    return <StatusBadge tone="info">{t('parameters.configured')}</StatusBadge>;
  return null;
}
