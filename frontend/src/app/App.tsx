import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useMemo, type ReactNode } from 'react';
import { useT } from '@/lib/i18n/context';
import { I18nProvider } from '@/lib/i18n/I18nProvider';
import { queryClient } from './queryClient';
import { router } from './router';
import { themeIn } from './theme';

export function App() {
  return (
    <I18nProvider>
      <Themed>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </Themed>
    </I18nProvider>
  );
}

function Themed({ children }: { children: ReactNode }) {
  const t = useT();
  const theme = useMemo(() => themeIn(t), [t]);
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto">
      {children}
    </MantineProvider>
  );
}
