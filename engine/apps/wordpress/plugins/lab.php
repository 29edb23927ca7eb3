<?php
// Comments appear at once, however many come from one address, and no picture is looked for elsewhere.
add_filter( 'wp_is_comment_flood', '__return_false', 99 );
add_filter( 'pre_comment_approved', function () { return 1; } );
add_filter( 'pre_option_show_avatars', function () { return '0'; } );
