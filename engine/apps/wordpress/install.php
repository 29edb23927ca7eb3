<?php
// php install.php DOCUMENTS: creates the tables, and the first account.
define( 'WP_INSTALLING', true );
$_SERVER['HTTP_HOST'] = 'apps.test';
require $argv[1] . '/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install( 'The lab', 'admin', 'admin@apps.test', true, '', 'a password of the lab' );
