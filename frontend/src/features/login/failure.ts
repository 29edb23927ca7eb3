// Translates the reason why a log-in with the identity provider was refused.
import type { MessageKey } from '@/lib/i18n/en';

const SAID = new Map<string, MessageKey>(
  Object.entries({
    no_role: 'login.failed.noRole',
    user_disabled: 'login.failed.disabled',
    sign_in_expired: 'login.failed.expired',
    provider_unavailable: 'login.failed.unavailable',
  } as const),
);

/**
 * The key of the text for a failed log-in. `code` comes from the address, which any site can write, so it only selects
 * one of these texts; an unknown code gives the general one.
 */
export function failureOf(code: string): MessageKey {
  return SAID.get(code) ?? 'login.failed.refused';
}
