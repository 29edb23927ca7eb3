import { useTold } from '@/lib/i18n/context';
import { fieldRefusal } from '@/api/errors';
import { toldField } from '@/lib/i18n/told';

/**
 * Returns a function that gives the error message of a field, translated if the viewer's language has a translation;
 * undefined if the field was not rejected.
 */
export function useFieldMessage(): (error: unknown, field: string) => string | undefined {
  const told = useTold();
  return (error, field) => {
    const refusal = fieldRefusal(error, field);
    return refusal && toldField(told, refusal);
  };
}
