import { Button, Popover, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { IconCalendarTime } from '@/components/icons';
import { useT } from '@/lib/i18n/context';
import { toLocalInput } from '@/lib/time';
import { lengthOf, type MonitoringSearch } from './search';

interface CustomSpanProps {
  search: MonitoringSearch;
  onChange: (next: Partial<MonitoringSearch>) => void;
}

/** Inputs for the start and the end of the span of the charts, in the viewer's time zone. */
export function CustomSpan({ search, onChange }: CustomSpanProps) {
  const t = useT();
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus withinPortal>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconCalendarTime size={14} />}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {t('monitoring.custom')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <SpanForm
          search={search}
          onChange={(from, to) => {
            setOpen(false);
            onChange({ from, to, live: undefined });
          }}
        />
      </Popover.Dropdown>
    </Popover>
  );
}

interface SpanFormProps {
  search: MonitoringSearch;
  onChange: (from: number, to: number) => void;
}

function SpanForm({ search, onChange }: SpanFormProps) {
  const t = useT();
  const [end] = useState(() => search.to ?? Date.now());
  const [from, setFrom] = useState(toLocalInput(end - lengthOf(search)));
  const [to, setTo] = useState(toLocalInput(end));
  const [first, last] = [Date.parse(from), Date.parse(to)];
  const isSpan = first < last;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isSpan) onChange(first, last);
      }}
    >
      <Stack gap="xs">
        <TextInput
          type="datetime-local"
          label={t('monitoring.from')}
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          label={t('monitoring.to')}
          value={to}
          error={isSpan ? undefined : t('monitoring.notASpan')}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
        <Button type="submit" disabled={!isSpan}>
          {t('monitoring.show')}
        </Button>
      </Stack>
    </form>
  );
}
