import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { instanceChoicesQuery, instanceNameQuery } from '@/api/instances';
import { useT } from '@/lib/i18n/context';

interface InstanceSelectProps extends Omit<SelectProps, 'data' | 'value' | 'onChange'> {
  value: string | undefined;
  onChange: (id: string | undefined) => void;
  /** Ids of instances that are not offered. */
  except?: readonly string[];
}

const PAUSE_MS = 250;

/**
 * A field that selects one instance by typing part of its name, which the server searches. `value` is the id of the
 * selected instance; `onChange` gets undefined when the selection is cleared.
 */
export function InstanceSelect({ value, onChange, except = [], ...rest }: InstanceSelectProps) {
  const t = useT();
  const { data: chosen } = useQuery({ ...instanceNameQuery(value ?? ''), enabled: Boolean(value) });
  const name = value && (chosen?.name ?? value);
  const [typed, setTyped] = useState('');
  const [wanted] = useDebouncedValue(typed === name ? '' : typed, PAUSE_MS);
  const { data: found = [], isError } = useQuery(instanceChoicesQuery(wanted));
  const offered = found.filter((item) => item.value !== value && !except.includes(item.value));
  return (
    <Select
      searchable
      clearable
      placeholder={t('instance.choose')}
      nothingFoundMessage={t(isError ? 'error.choices' : 'fleet.noMatch')}
      filter={({ options }) => options}
      onSearchChange={setTyped}
      data={value && name ? [{ value, label: name }, ...offered] : offered}
      value={value ?? null}
      onChange={(next) => onChange(next ?? undefined)}
      {...rest}
    />
  );
}
