import type { SettingsDraft } from './settingsDraft';

export interface SettingsPanelProps {
  draft: SettingsDraft;
  error: unknown;
  onChange: (next: Partial<SettingsDraft>) => void;
}
