// Translates the reason why a browser that comes back from the identity provider is refused.
import type { MessageKey } from '@/lib/i18n/en';

const SAID = new Map<string, MessageKey>(
  Object.entries({
    no_role: 'login.failed.noRole',
    user_disabled: 'login.failed.disabled',
    sign_in_expired: 'login.failed.expired',
    provider_unavailable: 'login.failed.unavailable',
  } as const),
);

/** Anybody can write an address, so it only chooses among these texts. */
export function failureOf(code: string): MessageKey {
  return SAID.get(code) ?? 'login.failed.refused';
}
