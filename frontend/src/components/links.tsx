// Links with Mantine's look and the router's typed addresses.
import { Button, Menu, type ButtonProps, type MenuItemProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import classes from './links.module.css';

type AnchorElementProps = Omit<ComponentProps<'a'>, 'color' | 'style' | 'children'>;

interface TextLinkProps extends ComponentProps<'a'> {
  isStrong?: boolean;
  /** True for a link within text. It is underlined, since colour alone would not distinguish it. */
  isInText?: boolean;
}

/**
 * A link to an address of the router. A plain anchor and not Mantine's, which costs several times as much, since a
 * table that is scrolled draws hundreds of them. `className` comes last to override the one that the router adds to a
 * link to a parent of the current page.
 */
export const TextLink = createLink(({ isStrong, isInText, ...props }: TextLinkProps) => (
  <a {...props} className={classes.link} data-strong={isStrong} data-in-text={isInText} />
));

export const ButtonLink = createLink((props: ButtonProps & AnchorElementProps) => (
  <Button component="a" {...props} />
));

export const MenuItemLink = createLink((props: MenuItemProps & AnchorElementProps) => (
  <Menu.Item component="a" {...props} />
));
