import { useApiText } from '@/lib/i18n/context';
import { fieldRefusal } from '@/api/errors';
import { fieldErrorText } from '@/lib/i18n/apiTexts';

/**
 * Returns a function that takes the error of a form's request and the name of a field, and returns the message for that
 * field in the viewer's language. Undefined if the field was not rejected.
 */
export function useFieldMessage(): (error: unknown, field: string) => string | undefined {
  const apiText = useApiText();
  return (error, field) => {
    const refusal = fieldRefusal(error, field);
    return refusal && fieldErrorText(apiText, refusal);
  };
}
