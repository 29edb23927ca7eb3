import { Button, Group, MultiSelect, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useState, type FormEvent, type KeyboardEvent } from 'react';
import type { Instance, InstanceParameter } from '@/api/instances';
import { useT } from '@/lib/i18n/context';
import { ExpressionResult } from './ExpressionResult';
import { choicesOf, judge, namesOf, readableRange, wrongText, type Judgement } from './parameterInput';
import { presentValue } from './parameterList';
import type { Draft } from './useDraft';
import { useVerdict } from './useVerdict';
import { formatBytes } from '@/lib/bytes';
import classes from './parameters.module.css';

interface ValueEditorProps {
  row: InstanceParameter;
  instance: Instance;
  draft: Draft;
  onClose: () => void;
}

export function ValueEditor({ row, instance, draft, onClose }: ValueEditorProps) {
  const t = useT();
  const [text, setText] = useState(draft.values[row.name] ?? presentValue(row) ?? '');
  const judgement = judge(text, row);
  const { isBlocked } = useVerdict(instance, row, text);
  const choices = choicesOf(row.allowed);
  const names = namesOf(text.toUpperCase());
  const chosen = choices?.find((choice) => choice.toUpperCase() === text.toUpperCase());
  const keep = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    if (judgement.kind === 'wrong' || isBlocked) return;
    const submitted = judgement.kind === 'value' ? judgement.submitted : text;
    if (submitted === row.configured) draft.drop(row.name);
    else draft.set(row.name, submitted);
    onClose();
  };
  const reset = () => {
    draft.set(row.name, null);
    onClose();
  };
  return (
    <form onSubmit={keep}>
      <Stack gap={8}>
        <div className={classes.about}>{row.description}</div>
        {choices && row.type === 'set' ? (
          <MultiSelect
            label={row.name}
            data={choices}
            value={choices.filter((choice) => names.includes(choice.toUpperCase()))}
            onChange={(chosen) => setText(chosen.join(','))}
            searchable
            comboboxProps={{ withinPortal: false }}
            data-autofocus
          />
        ) : choices ? (
          <NativeSelect
            label={row.name}
            data={chosen === undefined ? ['', ...choices] : choices}
            value={chosen ?? ''}
            onChange={(event) => setText(event.currentTarget.value)}
            onKeyDown={submitByEnter}
            data-autofocus
          />
        ) : (
          <TextInput
            label={row.name}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            error={judgement.kind === 'wrong' && wrongText(judgement, t)}
            spellCheck={false}
            autoComplete="off"
            classNames={{ input: classes.mono }}
            data-autofocus
          />
        )}
        <Hints row={row} text={text} judgement={judgement} instance={instance} />
        <Group gap={6} justify="space-between">
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            onClick={reset}
            disabled={row.configured === null}
          >
            {t('parameters.reset')}
          </Button>
          <Group gap={6}>
            <Button variant="default" size="compact-xs" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button type="submit" size="compact-xs" disabled={judgement.kind === 'wrong' || isBlocked}>
              {t('parameters.keep')}
            </Button>
          </Group>
        </Group>
      </Stack>
    </form>
  );
}

/**
 * Makes Enter submit the form of a select, as it does in an input. The browser would open the list, which the space bar
 * still does.
 */
function submitByEnter(event: KeyboardEvent<HTMLSelectElement>) {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}

interface HintsProps {
  row: InstanceParameter;
  text: string;
  judgement: Judgement;
  instance: Instance;
}

function Hints({ row, text, judgement, instance }: HintsProps) {
  const t = useT();
  const isBytes = row.unit === 'bytes' && judgement.kind === 'value' && /^\d{4,}$/.test(judgement.submitted);
  return (
    <div className={classes.hints}>
      {judgement.kind === 'expression' && <ExpressionResult instance={instance} row={row} text={text} />}
      {isBytes && (
        <div>
          = {judgement.submitted} B · <strong>{formatBytes(judgement.submitted)}</strong>
        </div>
      )}
      <div>
        {t('parameters.allowed')}: {readableRange(row) || t('parameters.anything')}
        {row.divisor > 1 && `, ${t('parameters.multipleOf', { divisor: row.divisor })}`}
      </div>
      <div>
        {t('parameters.default')}: <code>{row.default ?? '–'}</code> · {t('parameters.running')}:{' '}
        <code>{row.running ?? '–'}</code>
      </div>
    </div>
  );
}
