import { useQuery } from '@tanstack/react-query';
import { classQuery, type InstanceClass } from '@/api/instances';
import { FactList } from '@/components/FactList';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { formatBytes } from '@/lib/bytes';
import { useT, type Translate } from '@/lib/i18n/context';

/** The numbers of an instance class, such as its memory. Expressions in parameter values are computed from them. */
export function ClassFacts({ name }: { name: string }) {
  const t = useT();
  const found = useQuery(classQuery(name));
  return (
    <Panel title={t('instance.class', { name })} description={t('instance.classHint')}>
      <QueryView query={found}>{(data) => <FactList facts={factsOf(data, t)} />}</QueryView>
    </Panel>
  );
}

function factsOf(data: InstanceClass, t: Translate) {
  const memory = data.variables.DBInstanceClassMemory ?? data.memory_bytes - data.memory_reserve_bytes;
  return [
    { label: 'DBInstanceClassCPU', value: data.cpu_count },
    { label: 'DBInstanceClassMemory', value: `${memory} (${formatBytes(memory)})` },
    { label: 'DBInstanceClassConnections', value: data.max_connections },
    {
      label: 'AllocatedStorage',
      value: data.storage_bytes === null ? t('instance.unknown') : formatBytes(data.storage_bytes),
    },
    { label: t('instance.memory'), value: formatBytes(data.memory_bytes) },
    { label: t('instance.reserve'), value: formatBytes(data.memory_reserve_bytes) },
  ];
}
