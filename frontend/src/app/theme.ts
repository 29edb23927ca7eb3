// Mantine theme: a dense console with one accent colour. Surfaces, borders and status colours are CSS
// variables in styles.css, so that both schemes are defined in one place. Components are named, not imported: an
// import here would put each of them into the first load.
import { createTheme, mergeThemeOverrides } from '@mantine/core';
import type { Translate } from '@/lib/i18n/context';

const theme = createTheme({
  primaryColor: 'brand',
  primaryShade: { light: 7, dark: 6 },
  colors: {
    brand: [
      '#eef3ff',
      '#dce5fd',
      '#b7c8f9',
      '#8fa9f5',
      '#6d8df0',
      '#5a7cea',
      '#4a6be0',
      '#3457c9',
      '#2848ad',
      '#1c378f',
    ],
    dark: [
      '#e2e7ef',
      '#bcc6d6',
      '#9aa6b9',
      '#7c899d',
      '#36404f',
      '#28303d',
      '#1d2430',
      '#161b24',
      '#0f131a',
      '#0a0d12',
    ],
  },
  fontFamily:
    "'Inter Variable', system-ui, -apple-system, 'Segoe UI', 'PingFang SC', 'Microsoft YaHei', sans-serif",
  fontFamilyMonospace: "'IBM Plex Mono', ui-monospace, 'SFMono-Regular', Menlo, monospace",
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  headings: {
    fontWeight: '620',
    sizes: { h1: { fontSize: '1.375rem' }, h2: { fontSize: '1rem' }, h3: { fontSize: '0.875rem' } },
  },
  defaultRadius: 'md',
  radius: { xs: '3px', sm: '5px', md: '7px', lg: '10px', xl: '16px' },
  cursorType: 'pointer',
  components: {
    Button: { defaultProps: { size: 'xs' } },
    TextInput: { defaultProps: { size: 'xs' } },
    NumberInput: { defaultProps: { size: 'xs' } },
    Select: {
      defaultProps: { size: 'xs', allowDeselect: false, comboboxProps: { shadow: 'md' } },
    },
    Chip: { defaultProps: { variant: 'outline' } },
    Badge: { defaultProps: { variant: 'light', tt: 'none' } },
    Tooltip: { defaultProps: { openDelay: 250, withArrow: true, multiline: true, maw: 320 } },
  },
});

/**
 * Properties for every dialog that Mantine leaves out: a name for its close button, and a role that keeps screen
 * readers from taking its header for the page's.
 */
function dialogIn(t: Translate) {
  return {
    closeButtonProps: { 'aria-label': t('action.close') },
    attributes: { header: { role: 'presentation' } },
  };
}

const title = { fontWeight: 620 };

export function themeIn(t: Translate) {
  return mergeThemeOverrides(theme, {
    components: {
      // A click outside must not discard what the user typed.
      Modal: {
        defaultProps: { centered: true, closeOnClickOutside: false, ...dialogIn(t) },
        styles: { title },
      },
      Drawer: { defaultProps: { position: 'right', ...dialogIn(t) }, styles: { title } },
      PasswordInput: {
        defaultProps: { visibilityToggleButtonProps: { 'aria-label': t('login.showPassword') } },
      },
    },
  });
}
