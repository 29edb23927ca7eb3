declare module '@tabler/icons-react/dist/esm/icons/*.mjs' {
  import type { ComponentType, SVGProps } from 'react';
  const icon: ComponentType<SVGProps<SVGSVGElement> & { size?: number | string; stroke?: number | string }>;
  export default icon;
}

/** A file's content, as an address that needs no request. */
declare module '*.svg?inline' {
  const address: string;
  export default address;
}
