<?php
// The settings of WordPress in all modes of the lab. Environment variables name the database.
define( 'DB_NAME', 'wordpress' );
define( 'DB_USER', getenv( 'FQC_APPS_USER' ) );
define( 'DB_PASSWORD', '' );
define( 'DB_HOST', '127.0.0.1:' . getenv( 'FQC_APPS_PORT' ) );
define( 'DB_CHARSET', 'utf8mb4' );
define( 'DB_COLLATE', '' );
$table_prefix = 'wp_';

// These keys are the same in all modes, so that a session or a hidden field is the same in all of them.
foreach ( array( 'AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE' ) as $name ) {
	define( $name . '_KEY', 'the key of ' . $name );
	define( $name . '_SALT', 'the salt of ' . $name );
}
define( 'WP_HOME', 'http://apps.test' );
define( 'WP_SITEURL', 'http://apps.test' );
define( 'WPMU_PLUGIN_DIR', getenv( 'FQC_APPS_PLUGINS' ) );

// No request leaves this machine, and no background task runs.
define( 'WP_HTTP_BLOCK_EXTERNAL', true );
define( 'DISABLE_WP_CRON', true );
define( 'AUTOMATIC_UPDATER_DISABLED', true );
define( 'WP_DEBUG', false );

require_once ABSPATH . 'wp-settings.php';
