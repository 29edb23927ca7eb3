<?php
// What all servers of the lab share. The process's environment says which database it is for.
define( 'DB_NAME', 'wordpress' );
define( 'DB_USER', getenv( 'FQC_APPS_USER' ) );
define( 'DB_PASSWORD', '' );
define( 'DB_HOST', '127.0.0.1:' . getenv( 'FQC_APPS_PORT' ) );
define( 'DB_CHARSET', 'utf8mb4' );
define( 'DB_COLLATE', '' );
$table_prefix = 'wp_';

// The same for all, so that a session or a hidden field means the same to all of them.
foreach ( array( 'AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE' ) as $name ) {
	define( $name . '_KEY', 'the key of ' . $name );
	define( $name . '_SALT', 'the salt of ' . $name );
}
define( 'WP_HOME', 'http://apps.test' );
define( 'WP_SITEURL', 'http://apps.test' );
define( 'WPMU_PLUGIN_DIR', getenv( 'FQC_APPS_PLUGINS' ) );

// Nothing leaves this machine, and nothing happens besides what is asked for.
define( 'WP_HTTP_BLOCK_EXTERNAL', true );
define( 'DISABLE_WP_CRON', true );
define( 'AUTOMATIC_UPDATER_DISABLED', true );
define( 'WP_DEBUG', false );

require_once ABSPATH . 'wp-settings.php';
