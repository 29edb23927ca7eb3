import { TextInput, type TextInputProps } from '@mantine/core';
import { useFieldMessage } from '@/components/useFieldMessage';
import { useT } from '@/lib/i18n/context';
import { readTags } from '@/lib/tags';

interface TagsFieldProps extends Omit<TextInputProps, 'error' | 'value' | 'onChange'> {
  value: string;
  error?: unknown;
  onChange: (tags: string) => void;
}

/**
 * A text field for tags (`env:prod, team:pay`). Text that cannot be parsed is marked while the user types; `error` is
 * that of the last submission.
 */
export function TagsField({ value, error, onChange, ...rest }: TagsFieldProps) {
  const t = useT();
  const said = useFieldMessage();
  return (
    <TextInput
      label={t('instance.tags')}
      description={t('tags.hint')}
      value={value}
      error={readTags(value) ? said(error, 'tags') : t('tags.wrong')}
      onChange={(event) => onChange(event.currentTarget.value)}
      {...rest}
    />
  );
}
