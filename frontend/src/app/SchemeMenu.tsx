import {
  ActionIcon,
  Menu,
  useComputedColorScheme,
  useMantineColorScheme,
  type MantineColorScheme,
} from '@mantine/core';
import { IconCheck, IconDeviceDesktop, IconMoon, IconSun } from '@/components/icons';
import { useT } from '@/lib/i18n/context';

const SCHEMES = [
  { value: 'light', label: 'scheme.light', Icon: IconSun },
  { value: 'dark', label: 'scheme.dark', Icon: IconMoon },
  { value: 'auto', label: 'scheme.auto', Icon: IconDeviceDesktop },
] as const satisfies { value: MantineColorScheme; label: string; Icon: unknown }[];

export function SchemeMenu() {
  const t = useT();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const shown = useComputedColorScheme('light');
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t('nav.scheme')}>
          {shown === 'dark' ? <IconMoon size={17} /> : <IconSun size={17} />}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {SCHEMES.map(({ value, label, Icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon size={15} />}
            rightSection={colorScheme === value ? <IconCheck size={14} /> : undefined}
            onClick={() => setColorScheme(value)}
          >
            {t(label)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
