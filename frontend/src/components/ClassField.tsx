// The class of an instance: an existing class, or a custom machine size.
import { Group, NumberInput, Select, TextInput } from '@mantine/core';
import type { InstanceClass } from '@/api/instances';
import { formatBytes } from '@/lib/bytes';
import { useT } from '@/lib/i18n/context';
import { CUSTOM, isSizeUnreadable } from '@/lib/customSize';

/** The entered class or size of a machine. Sizes are text as typed, such as `24 GiB`. */
export interface ClassChoice {
  /** The name of a class; `CUSTOM` if the other fields give the size; null before a choice. */
  instanceClass: string | null;
  memory: string;
  /** The number of processors. Empty means the number that the server reports. */
  cpus: number | '';
  /** The size of the disk. Empty means unknown. */
  storage: string;
}

interface ClassFieldProps {
  label: string;
  choice: ClassChoice;
  classes: InstanceClass[];
  /** True if the server reports the number of processors of its machine, so that the field may stay empty. */
  isCpuTold: boolean;
  error?: string | false;
  onChange: (next: Partial<ClassChoice>) => void;
}

export function ClassField({ label, choice, classes, isCpuTold, error, onChange }: ClassFieldProps) {
  const t = useT();
  return (
    <>
      <Select
        label={label}
        required
        allowDeselect={false}
        data={[
          ...classes.map((item) => ({
            value: item.name,
            label: t('addInstance.classText', {
              name: item.name,
              cpu: item.cpu_count,
              memory: formatBytes(item.memory_bytes),
            }),
          })),
          { value: CUSTOM, label: t('addInstance.customSize') },
        ]}
        value={choice.instanceClass}
        onChange={(instanceClass) => onChange({ instanceClass })}
        error={error}
      />
      {choice.instanceClass === CUSTOM && (
        <>
          <Group grow align="flex-start" gap="sm">
            <TextInput
              label={t('addInstance.memory')}
              required
              placeholder="24 GiB"
              value={choice.memory}
              error={isSizeUnreadable(choice.memory) && t('enable.wrongSize')}
              onChange={(event) => onChange({ memory: event.currentTarget.value })}
            />
            <NumberInput
              label={t('addInstance.cpus')}
              required={!isCpuTold}
              placeholder={isCpuTold ? t('addInstance.cpusTold') : undefined}
              min={1}
              max={1024}
              allowDecimal={false}
              value={choice.cpus}
              onChange={(cpus) => onChange({ cpus: typeof cpus === 'number' ? cpus : '' })}
            />
          </Group>
          <TextInput
            label={t('addInstance.storage')}
            description={t('addInstance.storageHint')}
            placeholder="500 GiB"
            value={choice.storage}
            error={isSizeUnreadable(choice.storage) && t('enable.wrongSize')}
            onChange={(event) => onChange({ storage: event.currentTarget.value })}
          />
        </>
      )}
    </>
  );
}
