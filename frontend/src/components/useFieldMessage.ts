import { useTold } from '@/lib/i18n/context';
import { fieldRefusal } from '@/api/errors';
import { toldField } from '@/lib/i18n/told';

/** What was said of a field, in the viewer's language where it has words for it. */
export function useFieldMessage(): (error: unknown, field: string) => string | undefined {
  const told = useTold();
  return (error, field) => {
    const refusal = fieldRefusal(error, field);
    return refusal && toldField(told, refusal);
  };
}
