<?php
// php fill.php DOCUMENTS POSTS: creates posts with categories, tags and comments. The content is the same each time.
$_SERVER['HTTP_HOST'] = 'apps.test';
require $argv[1] . '/wp-load.php';
require ABSPATH . 'wp-admin/includes/taxonomy.php';
$posts = (int) $argv[2];
$words = explode( ' ', 'river stone paper window garden letter engine mountain harbour winter copper signal market forest island bridge' );

function chosen( array $from, int $by ) {
	return $from[ $by % count( $from ) ];
}

update_option( 'permalink_structure', '/%postname%/' );
update_option( 'comments_notify', 0 );
update_option( 'moderation_notify', 0 );
update_option( 'comment_previously_approved', 0 );
$categories = array();
foreach ( array_slice( $words, 0, 8 ) as $word ) {
	$categories[] = wp_create_category( ucfirst( $word ) );
}
for ( $number = 1; $number <= $posts; $number++ ) {
	$paragraphs = '';
	for ( $part = 0; $part < 6; $part++ ) {
		$text = '';
		for ( $word = 0; $word < 60; $word++ ) {
			$text .= chosen( $words, $number * 7 + $part * 5 + $word * ( $number % 5 + 1 ) ) . ' ';
		}
		$paragraphs .= "<!-- wp:paragraph -->\n<p>$text</p>\n<!-- /wp:paragraph -->\n\n";
	}
	$at = gmdate( 'Y-m-d H:i:s', 1767225600 + $number * 40000 );
	$post = wp_insert_post( array(
		'post_title' => ucfirst( chosen( $words, $number ) ) . " number $number",
		'post_name' => "post-$number",
		'post_content' => $paragraphs,
		'post_status' => 'publish',
		'post_author' => 1,
		'post_date' => $at,
		'post_date_gmt' => $at,
		'post_category' => array( chosen( $categories, $number ), chosen( $categories, $number * 3 + 1 ) ),
		'tags_input' => array( chosen( $words, $number * 3 ), chosen( $words, $number * 5 + 2 ), chosen( $words, $number * 7 + 4 ) ),
	) );
	// No two comments have the same time, since the server would then choose which one comes first.
	for ( $comment = 0; $comment < $number % 6; $comment++ ) {
		$said = gmdate( 'Y-m-d H:i:s', strtotime( "$at UTC" ) + 60 * $comment );
		wp_insert_comment( array(
			'comment_post_ID' => $post,
			'comment_author' => 'Reader ' . ( $number * 3 + $comment ) % 40,
			'comment_author_email' => 'reader@apps.test',
			'comment_content' => "Comment $comment about " . chosen( $words, $number + $comment ),
			'comment_approved' => 1,
			'comment_date' => $said,
			'comment_date_gmt' => $said,
		) );
	}
}
flush_rewrite_rules();
