import { choiceParam, textParam, type RawSearch } from '@/lib/searchParams';

export const ALERT_TABS = ['incidents', 'rules', 'silences', 'channels'] as const;

export interface AlertsSearch {
  tab?: (typeof ALERT_TABS)[number];
  show?: 'all';
  incident?: string;
}

export function alertsSearch(raw: RawSearch): AlertsSearch {
  return {
    tab: choiceParam(raw, 'tab', ALERT_TABS),
    show: choiceParam(raw, 'show', ['all'] as const),
    incident: textParam(raw, 'incident'),
  };
}

export interface InstanceAlertsSearch {
  show?: 'open';
  incident?: string;
}

export function instanceAlertsSearch(raw: RawSearch): InstanceAlertsSearch {
  return { show: choiceParam(raw, 'show', ['open'] as const), incident: textParam(raw, 'incident') };
}
