import { useI18n } from '@/lib/i18n/context';
import { formatLocal, formatRelative, formatUtc } from '@/lib/time';
import { useNow } from './useNow';

interface MomentProps {
  at: string | number | null | undefined;
  relative?: boolean;
  /** Show seconds, for lists in which several events of one minute have an order. */
  isExact?: boolean;
}

/** A timestamp in the viewer's time zone, with UTC on hover. */
export function Moment({ at, relative, isExact }: MomentProps) {
  const { locale } = useI18n();
  const now = useNow(relative ? 15_000 : undefined);
  if (!at) return <span>–</span>;
  const text = relative ? formatRelative(at, now, locale) : formatLocal(at, locale, isExact);
  return (
    <time
      data-relative={relative}
      dateTime={new Date(at).toISOString()}
      title={`${formatLocal(at, locale, true)}\n${formatUtc(at)}`}
    >
      {text}
    </time>
  );
}
