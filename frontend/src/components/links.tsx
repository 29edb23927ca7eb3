// Mantine's look with the router's typed addresses.
import { Anchor, Button, Menu, type AnchorProps, type ButtonProps, type MenuItemProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';

type AnchorElementProps = Omit<ComponentProps<'a'>, 'color' | 'style' | 'children'>;

export const TextLink = createLink(
  (props: AnchorProps & AnchorElementProps & { children?: ComponentProps<'a'>['children'] }) => (
    <Anchor inherit {...props} />
  ),
);

export const ButtonLink = createLink((props: ButtonProps & AnchorElementProps) => (
  <Button component="a" {...props} />
));

export const MenuItemLink = createLink((props: MenuItemProps & AnchorElementProps) => (
  <Menu.Item component="a" {...props} />
));
