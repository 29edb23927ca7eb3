import { Button, Group, Modal, Radio, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useFocusBack } from '@/components/useFocusBack';
import { useT } from '@/lib/i18n/context';
import type { DaySpan } from './daySpan';
import { exportAddress } from './exportAddress';

const DAYS = 30;

interface ExportFormProps extends DaySpan {
  onClose: () => void;
}

/**
 * The dialog that exports the audit log of a span of days, at first `from` to `to`. The browser downloads the file
 * itself, so that the page never holds a large file.
 */
export function ExportForm({ from: first, to: last, onClose }: ExportFormProps) {
  const t = useT();
  useFocusBack();
  const [from, setFrom] = useState(() => first ?? dayAgo(DAYS));
  const [to, setTo] = useState(() => last ?? dayAgo(0));
  const [format, setFormat] = useState('csv');
  const address = exportAddress({ from, to, format });
  return (
    <Modal opened onClose={onClose} title={t('audit.export')}>
      <Stack gap="sm">
        <div>{t('audit.exportHint')}</div>
        <Group grow align="start">
          <TextInput
            label={t('audit.exportFrom')}
            type="date"
            value={from}
            onChange={(event) => setFrom(event.currentTarget.value)}
          />
          <TextInput
            label={t('audit.exportTo')}
            type="date"
            value={to}
            error={from && to && !address ? t('audit.exportOrder') : undefined}
            onChange={(event) => setTo(event.currentTarget.value)}
          />
        </Group>
        <Radio.Group label={t('audit.exportFormat')} value={format} onChange={setFormat}>
          <Stack gap={6} mt={4}>
            <Radio value="csv" label={t('audit.exportCsv')} />
            <Radio value="jsonl" label={t('audit.exportLines')} />
          </Stack>
        </Radio.Group>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('action.cancel')}
          </Button>
          {address ? (
            <Button component="a" href={address} download onClick={onClose}>
              {t('audit.exportDownload')}
            </Button>
          ) : (
            <Button disabled>{t('audit.exportDownload')}</Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}

function dayAgo(days: number): string {
  const at = new Date();
  at.setDate(at.getDate() - days);
  const two = (number: number) => String(number).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
