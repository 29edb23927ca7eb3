// Asks for the restart that some of the planned lines need.
import { Switch } from '@mantine/core';
import type { ChangePreview } from '@/api/changes';
import { useT } from '@/lib/i18n/context';

interface AllowRestartProps {
  lines: ChangePreview['lines'];
  isAllowed: boolean;
  onChange: (isAllowed: boolean) => void;
}

export function AllowRestart({ lines, isAllowed, onChange }: AllowRestartProps) {
  const t = useT();
  if (!lines.some((line) => line.needs_restart)) return null;
  return (
    <Switch
      label={t('review.allowRestart')}
      description={t('review.allowRestartHint')}
      checked={isAllowed}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}
