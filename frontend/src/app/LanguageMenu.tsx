import { ActionIcon, Menu } from '@mantine/core';
import { IconCheck, IconLanguage } from '@/components/icons';
import { LANGUAGES, useI18n, type Language } from '@/lib/i18n/context';

export function LanguageMenu() {
  const { language, setLanguage, t } = useI18n();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t('nav.language')}>
          <IconLanguage size={17} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {Object.entries(LANGUAGES).map(([code, name]) => (
          <Menu.Item
            key={code}
            lang={code}
            onClick={() => setLanguage(code as Language)}
            rightSection={code === language ? <IconCheck size={14} /> : undefined}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
