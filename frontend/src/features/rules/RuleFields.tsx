import { ActionIcon, Group, NumberInput, Select, TextInput } from '@mantine/core';
import type { components } from '@/api/schema.gen';
import { IconChevronUp, IconTrash } from '@/components/icons';
import { useT, useApiText } from '@/lib/i18n/context';
import { ACTIONS, errorAt, MATCHES, type RuleError, type RuleRow } from './ruleDraft';
import classes from './rules.module.css';

const EXAMPLES = { digest: '', table: 'shop.stock', schema: 'shop', account: 'report@%' };
const LONGEST_SECONDS = 3600;

interface RuleFieldsProps {
  row: RuleRow;
  index: number;
  explained: { effects: components['schemas']['RuleEffect'][]; statements: number; errors: RuleError[] };
  isReadOnly: boolean;
  onChange: (row: RuleRow) => void;
  onUp?: () => void;
  onRemove: () => void;
}

export function RuleFields({ row, index, explained, isReadOnly, onChange, onUp, onRemove }: RuleFieldsProps) {
  const t = useT();
  const apiText = useApiText();
  const wrong = (field: string) => {
    const error = errorAt(explained.errors, index, field);
    return error && apiText(`rule.${error.code}`, error.detail);
  };
  return (
    <li className={classes.row} aria-label={t('ruleEdit.rule', { number: index + 1 })}>
      <div className={classes.fields}>
        {MATCHES.map((name) => (
          <TextInput
            key={name}
            size="xs"
            label={t(`ruleEdit.${name}`)}
            placeholder={EXAMPLES[name]}
            spellCheck={false}
            readOnly={isReadOnly}
            value={row[name]}
            error={wrong(name)}
            onChange={(event) => onChange({ ...row, [name]: event.currentTarget.value })}
          />
        ))}
        <Select
          size="xs"
          label={t('ruleEdit.cache')}
          allowDeselect={false}
          readOnly={isReadOnly}
          data={ACTIONS.map((value) => ({ value, label: t(`ruleEdit.cache.${value}`) }))}
          value={row.cache}
          error={wrong('cache')}
          onChange={(cache) =>
            onChange({ ...row, cache: ACTIONS.find((each) => each === cache) ?? row.cache })
          }
        />
        {row.cache === 'always' && (
          <NumberInput
            size="xs"
            label={t('ruleEdit.ttl')}
            min={1}
            max={LONGEST_SECONDS}
            clampBehavior="none"
            readOnly={isReadOnly}
            value={row.ttl}
            error={wrong('ttl')}
            onChange={(ttl) => onChange({ ...row, ttl: ttl === '' ? '' : Number(ttl) })}
          />
        )}
      </div>
      {!isReadOnly && (
        <Group gap={4} wrap="nowrap" className={classes.tools}>
          <ActionIcon
            variant="default"
            disabled={!onUp}
            aria-label={t('ruleEdit.up', { number: index + 1 })}
            onClick={onUp}
          >
            <IconChevronUp size={15} />
          </ActionIcon>
          <ActionIcon
            variant="default"
            aria-label={t('ruleEdit.remove', { number: index + 1 })}
            onClick={onRemove}
          >
            <IconTrash size={15} />
          </ActionIcon>
        </Group>
      )}
      <RuleEffect index={index} explained={explained} wrong={wrong('')} />
    </li>
  );
}

interface RuleEffectProps extends Pick<RuleFieldsProps, 'index' | 'explained'> {
  wrong: string | undefined;
}

/** The effect of a rule: its error, or the number of recorded statements that it decides, with examples. */
function RuleEffect({ index, explained, wrong }: RuleEffectProps) {
  const t = useT();
  const effect = explained.effects.find((each) => each.index === index);
  if (wrong) return <p className={classes.wrong}>{wrong}</p>;
  if (!effect) return null;
  return (
    <div className={classes.effect} aria-live="polite">
      <p>
        {t(effect.is_by_account ? 'ruleEdit.matchesByAccount' : 'ruleEdit.matches', {
          count: effect.matched,
          all: explained.statements,
        })}
      </p>
      {effect.examples.length > 0 && (
        <ul>
          {effect.examples.map((text) => (
            <li key={text}>
              <code>{text}</code>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
