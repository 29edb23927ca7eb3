// Links with Mantine's look and the router's typed addresses.
import { Button, Menu, type ButtonProps, type MenuItemProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import classes from './links.module.css';

type AnchorElementProps = Omit<ComponentProps<'a'>, 'color' | 'style' | 'children'>;

interface TextLinkProps extends ComponentProps<'a'> {
  isStrong?: boolean;
  /** True for a link within text, where colour alone would not distinguish it. */
  isInText?: boolean;
}

/**
 * Not Mantine's: a scrolled table draws hundreds of these a second, and its own cost several times as much.
 * The class comes last: to a link that leads above the page it is on, the router gives one of its own.
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
